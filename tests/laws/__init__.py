"""Owns the laws that hold for documents of any origin. It brings no documents: recorded and generated ones do."""
