"""Check sheets: rows to look at by hand, written for spreadsheet programs and read back."""
