"""What people and programs see: translate, call Segue, translate back."""
