"""What the conformance runner is made of."""
