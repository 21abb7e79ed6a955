"""What is printed: lines and bars, on a terminal or elsewhere."""
