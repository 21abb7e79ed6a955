"""Warnings of what keeps a study from answering its question: before it runs, and after.

Warnings are no errors: such a study runs, and its numbers are right. They are about something else
than the reader takes them to be, or about too little of it.
"""
