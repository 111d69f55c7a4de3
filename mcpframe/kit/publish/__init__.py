"""What is looked at and added before a bundle is published."""
