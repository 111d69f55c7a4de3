"""Tests of authors: their servers in a real browser or in memory."""
