"""What drakit's own tests share with those of plugins. Public; its parts need the extra ``drakit[testing]``.

:mod:`drakit.testing.cluster` runs a Kubernetes control plane on loopback, :mod:`drakit.testing.strategies` has Hypothesis
strategies. This package itself imports nothing of the extra.
"""

from drakit.testing.cluster import Cluster

__all__ = ["Cluster"]
