"""Settings of the documentation site; ``make docs`` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

import gnomon

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "Gnomon"
author = "The Gnomon developers"
version = release = gnomon.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "figures",
    "formulas",
    "inherited_docstrings",
    "registry_pages",
    "texts_pages",
    "gallery",
]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["build", "extensions", "static"]
nitpicky = False
suppress_warnings = ["myst.header"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
numpydoc_use_plots = False
autosummary_generate = False
autodoc_typehints = "none"
default_role = "py:obj"
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = f"Gnomon {release}"
html_static_path = ["static"]
html_css_files = ["gnomon.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # pages cannot be read by a script of a page from file://
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": True,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "tour_*": [], "methods/**": ["sidebar-nav-bs"]}
copyright = "The Gnomon developers, BSD-3-Clause"
