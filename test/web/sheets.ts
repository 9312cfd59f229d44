// Sheets of the pictures, to look through: many on one, cut into pieces where a page is long, as large as can be read. Each
// look has a size of its own; those that differ from another in their colours alone are small.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { type Device, FOLDER, isForReadme, isWanted, type Theme } from './camera.ts';

/** As much as is shown at once without being made smaller. */
const SIDE = 1_560;
const GAP = 6;
const CAPTION = 14;
/** By the kind of sheet that it stands on: what is alike is looked at together. */
const SCALES: readonly Readonly<Partial<Record<`${Theme}-${Device}`, number>>>[] = [
  { 'light-phone': 0.66, 'dark-phone': 0.5, 'light-tablet': 0.62 },
  { 'light-laptop': 0.62, 'dark-desktop': 0.58 },
  { 'light-wide': 0.48, 'light-desktop': 0.42 },
  { 'dark-tablet': 0.26, 'dark-laptop': 0.26, 'dark-wide': 0.26 },
];

interface Piece {
  readonly file: string;
  readonly caption: string;
  readonly width: number;
  readonly height: number;
  /** Of the whole picture, where it begins. */
  readonly top: number;
  readonly wholeHeight: number;
}

interface Shelf {
  readonly height: number;
  readonly pieces: Piece[];
  used: number;
}

/** Of a PNG, by its head. */
function sizeOf(file: string): { readonly width: number; readonly height: number } {
  const head = readFileSync(file);
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
}

function piecesOf(name: string, look: string, scale: number): Piece[] {
  const file = `${name}-${look}.png`;
  const { width, height } = sizeOf(join(FOLDER, file));
  const whole = { file, width: Math.round(width * scale), wholeHeight: Math.round(height * scale) };
  const most = SIDE - 2 * GAP - CAPTION;
  const count = Math.ceil(whole.wholeHeight / most);
  return Array.from({ length: count }, (_, nth) => ({
    ...whole,
    caption: count === 1 ? `${name} ${look}` : `${name} ${look}, ${nth + 1} of ${count}`,
    top: nth * most,
    height: Math.min(most, whole.wholeHeight - nth * most),
  }));
}

/** Tallest first, each on the first shelf that has room; shelves upon each other as long as a sheet has room. */
function packed(pieces: readonly Piece[]): Shelf[][] {
  const shelves: Shelf[] = [];
  for (const piece of pieces.toSorted((a, b) => b.height - a.height)) {
    const shelf = shelves.find(({ used }) => used + piece.width + GAP <= SIDE);
    const used = piece.width + GAP;
    if (!shelf) shelves.push({ height: piece.height + CAPTION + GAP, pieces: [piece], used });
    else {
      shelf.pieces.push(piece);
      shelf.used += used;
    }
  }
  const sheets: Shelf[][] = [];
  for (const shelf of shelves) {
    const room = sheets.find(
      (sheet) => sheet.reduce((sum, { height }) => sum + height, shelf.height) <= SIDE,
    );
    if (room) room.push(shelf);
    else sheets.push([shelf]);
  }
  return sheets;
}

const STYLE = `body { margin: 0; background: #8a8a8a; font: 11px/${CAPTION}px sans-serif }
  section { display: flex; gap: ${GAP}px; align-items: start }
  figure { margin: 0 } figcaption { height: ${CAPTION}px; overflow: hidden; white-space: nowrap }`;

const drawn = ({ file, caption, width, height, top, wholeHeight }: Piece): string =>
  `<figure style="width: ${width}px"><figcaption>${caption}</figcaption><div style="height: ${height}px;
  background: url('../${file}') 0 -${top}px / ${width}px ${wholeHeight}px"></div></figure>`;

export async function makeSheets(browser: Browser): Promise<void> {
  if (isForReadme) return;
  const folder = join(FOLDER, 'sheets');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const names = readdirSync(FOLDER)
    .flatMap((file) => /^(.+)-light-desktop\.png$/.exec(file)?.[1] ?? [])
    .filter((name) => isWanted({ name: name.replace(/-(?:loading|error)$/, '') }));
  const page = await browser.newPage({ viewport: { width: SIDE, height: SIDE } });
  for (const [kind, scales] of SCALES.entries()) {
    const pieces = names.flatMap((name) =>
      Object.entries(scales).flatMap(([look, scale]) => piecesOf(name, look, scale)),
    );
    for (const [nth, sheet] of packed(pieces).entries()) {
      const draft = join(folder, 'draft.html');
      const shelves = sheet.map(
        ({ height, pieces: on }) =>
          `<section style="height: ${height}px">${on.map(drawn).join('')}</section>`,
      );
      writeFileSync(draft, `<meta charset="utf-8"><style>${STYLE}</style>${shelves.join('')}`);
      await page.goto(pathToFileURL(draft).href);
      const file = `${kind + 1}-${String(nth + 1).padStart(3, '0')}.png`;
      await page.screenshot({ path: join(folder, file) });
    }
  }
  rmSync(join(folder, 'draft.html'), { force: true });
  await page.close();
}
