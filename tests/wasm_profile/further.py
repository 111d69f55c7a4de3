"""What the pages of tests/browser run before they are quiet, besides the servers of the profile.

Each function was called in a test before its page had the second file. `#loadNow` in static/page/second-files.js marks
such a call: the second function of WebAssembly on its stack is the one that was called. These are of pages in tabs, of
workers, of pages that frame others, as the inspector does, of pages that end, and of test_start_engines.py in
Firefox and WebKit.
"""

FURTHER = {
    sha256: tuple(map(int, numbers.split()))
    for sha256, numbers in {
        "1f7d406a7c5dc50cf47d641966efff85d62fbfdfa44d80f014fbda69a39cc157": """
            594 622 632 732 748 749 750 751 752 753 754 911 920 996 1000 1038 1471 1482 1494 1715 1767 2026 2074 2314
            2341 2886 3102 3103 3118 3128 3600
        """,
        "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6": """
            272 274 276 289 337 339 356 357 481 488 505 527 528 1020 1032 1043 1052 1058 1061 1103 1122 1124 1149 1161
            1169 1177 1180 1190 1250 1257 1280 1308 1365 1367 1425 1443 1455 1460 1547 1548 1578 1582 1609 1644 1645
            1647 1649 1672 1673 1674 1724 1747 1836 1884 1885 2019 2047 2113 2157 2235 2259 2274 2277 2284 2314 2316
            2319 2336 2399 2400 2466 2675 2677 2684 2699 2715 2892 2937 2947 2967 2968 2980 2985 2993 3082 3088 3090
            3093 3094 3105 3157 3207 3326 3404 3455 3462 3736 3751 3833 3876 4135 4233 4353 4646 4648 5006 5017 5087
            5146 5151 5971 6015 6058 6062 6063 6083 6088 6155 6430 8585 8588 9065 9069 9070 9084 9085 9086 9096 9116
            9117 9120 9122 9138 9139 9140 9286 9289 9290 9399 9411 9415 9428 9431 9433 9434 9435 9437 9439 9441 9483
            9667 13221 13946 14342 14541 14762
        """,
        "cf0287906f536341b99f1c629fd7cc53a117495664fca1af2d7cb5c5e0b1cfa2": """
            363 394 408 673 674 943 978 1311 1460 1557 1560 2109 2217 2493
        """,
    }.items()
}
"""The numbers of the functions, by the hash of the file."""
