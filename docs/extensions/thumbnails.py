"""Small pictures for the index of the gallery: every figure is drawn by a browser without a window.

They are kept beside the figures, so that only new ones are drawn. Where there is no browser the
index has none.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from sphinx.util import logging

from gnomon.show.plotly_script import packed_script

logger = logging.getLogger(__name__)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--enable-unsafe-swiftshader", "--disable-background-networking", "--no-first-run",
         "--virtual-time-budget=3600000", "--dump-dom")  # fmt: skip
DRAWN = (480, 320)  # pixels that a figure is drawn with
SHOWN = 0.6  # of that, the size of the small picture
AT_ONCE = 40  # figures of one browser: its output holds all their pictures
PATIENCE = 600  # seconds until a browser must have drawn them
FIGURE = re.compile(r'<script type="application/json">(.*)</script>', re.DOTALL)
PICTURE = re.compile(r'<img id="([^"]+)" src="data:image/webp;base64,([^"]+)"')
PAGE = """<!DOCTYPE html><meta charset="utf-8"><body><script src="plotly.js"></script>
<script id="figures" type="application/json">%s</script><script>
(async () => {
  for (const [name, figure] of JSON.parse(document.getElementById("figures").textContent)) {
    const { data, layout } = figure;
    Object.assign(layout, { title: undefined, updatemenus: [], sliders: [], autosize: false });
    layout.margin = { l: 40, r: 15, t: 20, b: 35 };
    const image = document.createElement("img");
    image.id = name;
    try {
      image.src = await Plotly.toImage({ data, layout }, { format: "webp", width: %d, height: %d, scale: %g });
      document.body.append(image);
    } catch (error) { console.error(name, error); }
  }
})();
</script></body>
"""  # noqa: E501


def draw(figures: dict[str, Path], folder: Path) -> None:
    """Write the small picture of every figure that has none or an older one.

    Parameters
    ----------
    figures : dict of str to Path
        Figures by name, as `figures.html_of` writes them.
    folder : Path
        Where the pictures are kept, as ``NAME.webp``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [name for name, kept in figures.items() if is_older(folder / f"{name}.webp", kept)]
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if wanted and browser is None:
        logger.info("the gallery has no small pictures: there is no Chromium here")
        return
    for begin in range(0, len(wanted), AT_ONCE):
        part = wanted[begin : begin + AT_ONCE]
        for name, picture in drawn(browser or "", {name: figures[name] for name in part}).items():
            (folder / f"{name}.webp").write_bytes(picture)


def is_older(picture: Path, figure: Path) -> bool:
    """Whether a picture is not there or older than its figure."""
    return not picture.exists() or picture.stat().st_mtime < figure.stat().st_mtime


def drawn(browser: str, figures: dict[str, Path]) -> dict[str, bytes]:
    """Pictures of some figures, by one browser."""
    described = []
    for name, kept in figures.items():
        found = FIGURE.search(kept.read_text(encoding="utf-8"))
        if found is not None:
            described.append([name, json.loads(found[1])])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        page = Path(made, "page.html")
        Path(made, "plotly.js").write_bytes(gzip.decompress(packed_script(False)))
        content = json.dumps(described).replace("</", "<\\/")
        page.write_text(PAGE % (content, *DRAWN, SHOWN), encoding="utf-8")
        try:
            said = subprocess.run(
                [browser, *FLAGS, f"--user-data-dir={made}/profile", page.as_uri()],
                capture_output=True,
                timeout=PATIENCE,
            ).stdout.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            logger.info("small pictures of the gallery take too long: %s", ", ".join(figures))
            return {}
    return {name: base64.b64decode(data) for name, data in PICTURE.findall(said)}
