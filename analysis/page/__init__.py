"""A study as one page that can be mailed: ``report.html``, and ``report.md`` with the same words.

Law: what a page says is made once, as plain text in small frozen values; two templates only set it.
"""
