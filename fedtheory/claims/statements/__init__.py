"""Statements as data: written once, judged by every engine that can."""
