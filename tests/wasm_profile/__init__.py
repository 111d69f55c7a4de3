"""Profiles of WebAssembly: which functions the servers of the test suite run once their pages have started.

    python3 build.py profile            makes them anew
    python3 build.py profile SERVER ... adds what these servers run
    python3 build.py profile --again        splits the files again, after a change of `tables.py`

Each server is built without a split and opened in Chromium, with WebAssembly files that note which of their functions
run. What none of them runs goes into the second files: `mcpframe/kit/bundle/wasm/profiles`.
"""
