"""What to run next, and what follows from it: fixed designs, precision, capacity, sensitivity.

An experiment asks for units, is shown what they gave, and asks again until it has no more
questions. It is a function of the study and of what was seen: no clock, no files, no Spark, so a
study that was interrupted asks the same again and continues.
"""
