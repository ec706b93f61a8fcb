"""Files in, a cluster out. The only place of drakit's library part that reads files and the environment."""

from drakit.files.documents import Document, UnreadableFile, read_documents
from drakit.files.reading import Loaded, load, read_cluster

__all__ = ["Document", "Loaded", "UnreadableFile", "load", "read_cluster", "read_documents"]
