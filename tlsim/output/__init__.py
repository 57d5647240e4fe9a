"""What users see: results, text, figures. Imports what is above."""
