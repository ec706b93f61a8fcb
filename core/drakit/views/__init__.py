"""What drakit found, for people and for tools: tables, pictures, JSON."""
