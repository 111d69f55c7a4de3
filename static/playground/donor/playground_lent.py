"""The server in whose place the playground puts its user's: what it imports is in the snapshot, and so in each run.

A run that imports another module of Python's library fetches and unpacks all of it first.
"""

import asyncio
import base64
import bisect
import calendar
import collections
import colorsys
import contextlib
import copy
import csv
import dataclasses
import datetime
import decimal
import difflib
import enum
import fractions
import functools
import hashlib
import heapq
import html
import io
import itertools
import json
import math
import operator
import os
import pathlib
import random
import re
import statistics
import string
import textwrap
import threading
import time
import typing
import urllib.request
import uuid

from mcpframe import FrameServer
from mcpframe.frame.results import libraries  # for projects that install pandas and others

server = FrameServer("playground")
LENT = (
    *(asyncio, base64, bisect, calendar, collections, colorsys, contextlib, copy, csv, dataclasses, datetime, decimal),
    *(difflib, enum, fractions, functools, hashlib, heapq, html, io, itertools, json, math, operator, os, pathlib),
    *(libraries, random, re, statistics, string, textwrap, threading, time, typing, urllib.request, uuid),
)


@server.tool()
def nothing() -> None:
    """Do nothing."""
