"""WebAssembly files: reading and writing them, and splitting one into what serving runs and the rest."""
