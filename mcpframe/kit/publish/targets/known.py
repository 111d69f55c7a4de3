"""All targets, by name."""

from mcpframe.kit.publish.targets.cloudflare import CLOUDFLARE
from mcpframe.kit.publish.targets.folder import FOLDER
from mcpframe.kit.publish.targets.github_pages import GITHUB_PAGES
from mcpframe.kit.publish.targets.huggingface import HUGGINGFACE
from mcpframe.kit.publish.targets.netlify import NETLIFY
from mcpframe.kit.publish.targets.s3 import S3
from mcpframe.kit.publish.targets.vercel import VERCEL

TARGETS = {each.name: each for each in (GITHUB_PAGES, NETLIFY, CLOUDFLARE, VERCEL, S3, HUGGINGFACE, FOLDER)}
