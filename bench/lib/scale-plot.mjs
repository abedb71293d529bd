// The curves of --scale as an SVG that can be read on light and on dark pages.

const CURVES = {
  onetimeMs: { label: '--onetime (ms)', hue: 'blue' },
  onetimeConfdMs: { label: 'confd -onetime (ms)', hue: 'blue', dashed: true },
  changeMs: { label: 'change, put → published (ms)', hue: 'orange' },
  changeConfdMs: { label: 'the same, confd (ms)', hue: 'orange', dashed: true },
  bootMs: { label: 'boot from cache (ms)', hue: 'green' },
  nodeStartMs: { label: 'node -e 0 (ms)', hue: 'green', dashed: true },
  memoryMiB: { label: 'memory, settled (MiB)', hue: 'violet' },
};

const AXES = {
  nodes: 'nodes',
  peers: 'BGPPeers (100 nodes)',
  filters: 'BGPFilters (100 nodes, 1k BGPPeers)',
};

const PANEL = { width: 290, height: 250, left: 50, top: 40, gap: 24 };
const LEGEND = { columns: 4, width: 250, line: 20 };

const LIGHT = { page: '#fff', text: '#333', grid: '#ddd', frame: '#999' };
const LIGHT_HUES = { blue: '#0b6e99', orange: '#b8541a', green: '#2f7d32', violet: '#6b4a9e' };
const DARK = { page: '#0d1117', text: '#d0d7de', grid: '#2a3138', frame: '#57606a' };
const DARK_HUES = { blue: '#58b7e0', orange: '#f0955a', green: '#6cc070', violet: '#b39ae0' };

const STYLE = `
.curve { fill: none; stroke-width: 1.8 } .frame { fill: none }
${colours(LIGHT, LIGHT_HUES)}
@media (prefers-color-scheme: dark) {
${colours(DARK, DARK_HUES)}
}`;

function colours({ page, text: words, grid, frame }, hues) {
  const own = `.page { fill: ${page} } .text { fill: ${words} } .grid { stroke: ${grid} } .frame { stroke: ${frame} }`;
  const curves = Object.entries(hues).map(
    ([hue, colour]) => `.${hue} .curve { stroke: ${colour} } .${hue} .dot { fill: ${colour} }`,
  );
  return [own, ...curves].join('\n');
}

/** One panel per axis, logarithmic both ways; what birdfeed is compared with is dashed. `scale`: see `measureScale`. */
export function scalePlot(scale) {
  const panels = Object.entries(scale);
  const figures = panels.flatMap(([, points]) =>
    points.flatMap((point) => Object.keys(CURVES).map((name) => point[name] ?? 10)),
  );
  const decades = {
    from: Math.floor(Math.log10(Math.max(1, Math.min(...figures)))),
    to: Math.ceil(Math.log10(Math.max(...figures))),
  };
  const step = PANEL.left + PANEL.width + PANEL.gap;
  const width = panels.length * step;
  const legendTop = PANEL.top + PANEL.height + 60;
  const height = legendTop + Math.ceil(Object.keys(CURVES).length / LEGEND.columns) * LEGEND.line;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="Time and memory against the size of the cluster">`,
    `<style>${STYLE}</style>`,
    '<rect class="page" width="100%" height="100%"/>',
    ...panels.map(([axis, points], index) => panel(axis, points, index * step + PANEL.left, decades)),
    ...Object.values(CURVES).map((curve, index) => legend(curve, index, legendTop)),
    '</svg>\n',
  ].join('\n');
}

function panel(axis, points, left, decades) {
  const log = (count) => Math.log10(Math.max(1, count));
  const first = log(points[0].count);
  const last = Math.max(first + 1, log(points.at(-1).count));
  // A count of 0 has no logarithm; it is drawn at 1.
  const x = (count) => left + (PANEL.width * (log(count) - first)) / (last - first);
  const y = (value) =>
    PANEL.top + PANEL.height * (1 - (log(value) - decades.from) / (decades.to - decades.from));
  const bottom = PANEL.top + PANEL.height;
  const parts = [text(left, PANEL.top - 16, AXES[axis], 'start', ' font-weight="600"')];
  for (let decade = decades.from; decade <= decades.to; decade += 1) {
    const at = y(10 ** decade);
    parts.push(`<path class="grid" d="M${left} ${at.toFixed(1)}h${PANEL.width}"/>`);
    parts.push(text(left - 6, at + 4, short(10 ** decade), 'end'));
  }
  parts.push(text(left - 6, PANEL.top - 16, 'ms, MiB', 'end', ' font-size="10"'));
  for (const { count } of points) parts.push(text(x(count), bottom + 18, short(count), 'middle'));
  parts.push(`<path class="frame" d="M${left} ${PANEL.top}v${PANEL.height}h${PANEL.width}"/>`);
  for (const [name, curve] of Object.entries(CURVES)) {
    const known = points.filter((point) => typeof point[name] === 'number');
    if (known.length === 0) continue;
    parts.push(
      drawn(
        known.map((point) => [x(point.count), y(point[name])]),
        curve,
      ),
    );
  }
  return parts.join('');
}

function legend(curve, index, top) {
  const left = PANEL.left + (index % LEGEND.columns) * LEGEND.width;
  const at = top + Math.floor(index / LEGEND.columns) * LEGEND.line;
  const sample = [
    [left, at - 4],
    [left + 28, at - 4],
  ];
  return drawn(sample, curve) + text(left + 36, at, curve.label, 'start');
}

function drawn(points, { hue, dashed = false }) {
  const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const dots = points.map(
    ([x, y]) => `<circle class="dot" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="2.4"/>`,
  );
  return `<g class="${hue}"><polyline class="curve" points="${path}"${dashed ? ' stroke-dasharray="5 4"' : ''}/>${dots.join('')}</g>`;
}

function text(x, y, words, anchor, more = '') {
  return `<text class="text" x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${more}>${words}</text>`;
}

function short(number) {
  return number >= 1_000 ? `${number / 1_000}k` : String(number);
}
