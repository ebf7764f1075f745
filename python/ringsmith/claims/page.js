// SPDX-License-Identifier: Apache-2.0
const rows = [...document.querySelectorAll('#claims tbody tr')], body = document.querySelector('#claims tbody');
const text = document.querySelector('#find'), paper = document.querySelector('#paper'), count = document.querySelector('#count');
function show() {
  let shown = 0;
  for (const row of rows) {
    const fits = (!paper.value || row.dataset.paper === paper.value) && row.textContent.toLowerCase().includes(text.value.toLowerCase());
    row.hidden = !fits; shown += fits;
  }
  count.textContent = `${shown} of ${rows.length}`;
}
text.oninput = paper.onchange = show; show();
document.querySelectorAll('#claims th').forEach((head, column) => head.firstElementChild.onclick = () => {
  const up = head.getAttribute('aria-sort') !== 'ascending';
  document.querySelectorAll('#claims th').forEach(other => other.setAttribute('aria-sort', 'none'));
  head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
  const value = row => { const cell = row.children[column], n = parseFloat(cell.dataset.value); return isNaN(n) ? cell.textContent : n; };
  const rank = v => typeof v === 'number' ? 0 : 1;
  rows.sort((a, b) => { const x = value(a), y = value(b);
    if (rank(x) !== rank(y)) return rank(x) - rank(y);
    return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1); });
  body.append(...rows);
});
