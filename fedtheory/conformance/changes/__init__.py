"""What mistakes make of a method's round, worked out from the round itself."""
