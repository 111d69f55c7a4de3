"""Flashcards for assistants."""
