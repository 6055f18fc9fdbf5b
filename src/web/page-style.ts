// Style of the pages: one sheet, dark and light.

export const STYLE = `
:root{color-scheme:light dark;--ink:#1c2330;--soft:#5d6880;--line:#dfe4ee;--back:#f6f8fb;--card:#fff;--go:#0b7a4b;--wait:#8a5a00;--bad:#b3261e;--accent:#2456c9}
@media (prefers-color-scheme:dark){:root{--ink:#e7ebf3;--soft:#9aa6bd;--line:#2b3345;--back:#11151d;--card:#181e29;--go:#4cc38a;--wait:#e0a84a;--bad:#ff8a80;--accent:#8ab0ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header,main,footer{max-width:1180px;margin:0 auto;padding:0 20px}
header{display:flex;flex-wrap:wrap;gap:8px 24px;align-items:baseline;padding-top:24px;padding-bottom:8px}
h1{font-size:20px;margin:0}h2{font-size:13px;letter-spacing:.06em;text-transform:uppercase;color:var(--soft);margin:28px 0 8px}
.muted{color:var(--soft)}.facts{display:flex;flex-wrap:wrap;gap:12px;margin:12px 0 0;padding:0;list-style:none}
.facts li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:10px 16px;min-width:108px}
.facts b{display:block;font-size:22px;font-variant-numeric:tabular-nums}
.warn{border-left:4px solid var(--wait);background:var(--card);padding:10px 14px;margin:12px 0 0;border-radius:6px;overflow-wrap:anywhere;white-space:pre-wrap}
table{width:100%;border-collapse:collapse;background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:hidden}
th{text-align:left;white-space:nowrap;font-size:12px;color:var(--soft);font-weight:600}th,td{padding:9px 12px;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}td.n{white-space:nowrap;font-variant-numeric:tabular-nums}td.words{color:var(--soft);max-width:420px}
.tag{display:inline-block;border:1px solid currentColor;border-radius:999px;padding:0 9px;font-size:12px;white-space:nowrap}
.done{color:var(--go)}.failed{color:var(--bad)}.wait{color:var(--wait)}.go{color:var(--accent)}
a{color:var(--accent)}:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
button{font:inherit;padding:6px 14px;border-radius:8px;border:1px solid var(--line);background:var(--card);color:var(--ink);cursor:pointer}
.steer{display:none;gap:6px;margin-top:6px}body[data-steer=yes] .steer{display:flex}.steer button{padding:1px 10px;font-size:13px}
.own{color:inherit;text-decoration-color:var(--soft)}.skip{position:absolute;left:-9999px}.skip:focus{left:8px;top:8px;background:var(--card);padding:8px 14px}main:focus{outline:0}
#find{font:inherit;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:8px;padding:6px 12px;width:240px;max-width:100%}
pre{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:10px 14px;margin:8px 0;max-height:60vh;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 ui-monospace,monospace}pre:empty::before{content:"No output is kept.";color:var(--soft)}
ol{list-style:none;margin:0;padding:0}ol li{padding:3px 0;overflow-wrap:anywhere}li time{color:var(--soft);font-variant-numeric:tabular-nums;margin-right:8px}
footer{padding-top:24px;padding-bottom:32px;color:var(--soft);font-size:13px}
#live[data-state=off]{color:var(--bad)}
[hidden]{display:none!important}details{margin-top:12px}summary{cursor:pointer;color:var(--soft);margin-bottom:8px}p.muted:empty{display:none}
@media (max-width:720px){thead{position:absolute;left:-9999px}table,tbody,tr,td{display:block;width:100%}tr{padding:8px 0;border-bottom:1px solid var(--line)}td{border:0;padding:2px 12px}td::before{content:attr(data-label) " ";color:var(--soft);font-size:12px}td.words{max-width:none}td:empty{display:none}a,button,summary,#find,#token{min-height:44px}a{display:inline-flex;align-items:center;min-width:44px}button,.steer button{min-width:44px;padding:0 16px}summary{line-height:44px}header,main,footer{padding-left:12px;padding-right:12px}li time{display:block}}
`;
