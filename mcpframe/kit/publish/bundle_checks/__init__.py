"""The checks of a bundle or of a deployed URL, one module per subject."""

from mcpframe.kit.publish.bundle_checks.findings import Finding as Finding
from mcpframe.kit.publish.bundle_checks.run import Report as Report
from mcpframe.kit.publish.bundle_checks.run import check_url as check_url
