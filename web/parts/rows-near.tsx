// The rows that are near what is seen; in the place of the others a space of their height. So ten thousand rows cost what
// some dozens do, when they are opened, come back to, and change. They come and go in blocks, whose heights are measured:
// on a phone no row is as high as the next.

import { Fragment, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/** A block is drawn in a fraction of a frame. */
const BLOCK = 10;
/** Half a screen ahead, in pixels: who scrolls sees rows, not spaces. */
const NEAR = 400;

/** What a list is made of. */
interface Row {
  readonly id: string;
}
type DrawRow<Kind extends Row> = (row: Kind, index: number) => ReactNode;

interface BlockProps<Kind extends Row> {
  readonly rows: readonly Kind[];
  readonly from: number;
  /** To be seen at once, by what is known before it is drawn. */
  readonly isExpected: boolean;
  readonly isWhole: boolean;
  readonly children: DrawRow<Kind>;
}

export function RowsNear<Kind extends Row>({
  rows,
  children,
}: {
  readonly rows: readonly Kind[];
  readonly children: DrawRow<Kind>;
}) {
  const isWhole = useIsWhole();
  const wasAt = useScroll();
  const blocks = useBlocks(rows);
  const expected = expectedOf(blocks, wasAt());
  return blocks.map((block, n) => (
    <Block
      key={block[0]?.id}
      rows={block}
      from={n * BLOCK}
      isExpected={expected.has(block)}
      isWhole={isWhole}
    >
      {children}
    </Block>
  ));
}

/** A block whose rows are the same stays the same: of a page that is added only its own are watched anew. */
function useBlocks<Kind extends Row>(rows: readonly Kind[]): readonly (readonly Kind[])[] {
  const last = useRef<readonly (readonly Kind[])[]>([]);
  return useMemo(() => {
    last.current = Array.from({ length: Math.ceil(rows.length / BLOCK) }, (_, n) => {
      const block = rows.slice(n * BLOCK, (n + 1) * BLOCK);
      const before = last.current[n];
      return before?.length === block.length && block.every((row, at) => row === before[at]) ? before : block;
    });
    return last.current;
  }, [rows]);
}

function Block<Kind extends Row>({ rows, from, isExpected, isWhole, children }: BlockProps<Kind>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [isNear, setNear] = useState(isExpected);
  useEffect(() => (body.current ? watch(body.current, { rows, setNear }) : undefined), [rows]);
  return (
    <tbody ref={body}>
      {isNear || isWhole ? (
        rows.map((row, n) => <Fragment key={row.id}>{children(row, from + n)}</Fragment>)
      ) : (
        <tr className="space" style={{ height: heightOf(rows) }}>
          <td />
        </tr>
      )}
    </tbody>
  );
}

/** As last seen, in a window of this width; by its first row, which the list keeps for as long as it is kept itself. */
const heights = new WeakMap<Row, { readonly height: number; readonly width: number }>();
/** Of a row that was not drawn yet. */
let usual = 37;

function noteHeight(rows: readonly Row[], height: number): void {
  if (!rows[0] || height === 0) return;
  heights.set(rows[0], { height, width: innerWidth });
  usual = height / rows.length;
}

function heightOf(rows: readonly Row[]): number {
  const known = rows[0] && heights.get(rows[0]);
  return known?.width === innerWidth ? known.height : rows.length * usual;
}

interface Watched {
  readonly rows: readonly Row[];
  setNear(isNear: boolean): void;
}

const watched = new WeakMap<Element, Watched>();
const nearness = new IntersectionObserver(
  (seen) => {
    // What has the focus stays: who scrolled away from it goes on from there by the keyboard.
    for (const { target, isIntersecting } of seen)
      watched.get(target)?.setNear(isIntersecting || target.contains(document.activeElement));
  },
  { rootMargin: `${NEAR}px 0px` },
);
/** Told by the browser, when it has laid out the page: asking it would have it do that at once. */
const sizes = new ResizeObserver((seen) => {
  for (const { target, contentRect } of seen) {
    const rows = watched.get(target)?.rows;
    if (rows) noteHeight(rows, contentRect.height);
  }
});

function watch(block: Element, is: Watched): () => void {
  watched.set(block, is);
  nearness.observe(block);
  sizes.observe(block);
  return () => {
    nearness.unobserve(block);
    sizes.unobserve(block);
  };
}

/** By its path, how far down a page is, or was when its list was last on it. */
const scrolled = new Map<string, number>();

function useScroll(): () => number {
  const [path] = useState(() => location.pathname);
  // Gone before the next page is shown, which begins at its top.
  useLayoutEffect(() => {
    const note = () => void scrolled.set(path, scrollY);
    addEventListener('scroll', note, { passive: true });
    return () => removeEventListener('scroll', note);
  }, [path]);
  return () => scrolled.get(path) ?? 0;
}

/** Who comes back is taken to where they were: what is seen there is there at once, and what is near it a frame later. */
function expectedOf<Block extends readonly Row[]>(
  blocks: readonly Block[],
  wasAt: number,
): ReadonlySet<Block> {
  const all = blocks.reduce((sum, block) => sum + heightOf(block), 0);
  const from = Math.min(wasAt, Math.max(0, all - innerHeight));
  let top = 0;
  return new Set(
    blocks.filter((block) => {
      const isBelow = top > from + innerHeight;
      top += heightOf(block);
      return !isBelow && top >= from;
    }),
  );
}

/** Paper has no window, and the browser's own search finds only what is there. */
function useIsWhole(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  const [isSearched, setSearched] = useState(false);
  useEffect(() => {
    const print = () => flushSync(() => setPrinted(true));
    const printed = () => setPrinted(false);
    const press = ({ key, ctrlKey, metaKey }: KeyboardEvent) => {
      if ((ctrlKey || metaKey) && key.toLowerCase() === 'f') setSearched(true);
    };
    addEventListener('beforeprint', print);
    addEventListener('afterprint', printed);
    addEventListener('keydown', press);
    return () => {
      removeEventListener('beforeprint', print);
      removeEventListener('afterprint', printed);
      removeEventListener('keydown', press);
    };
  }, []);
  return isPrinted || isSearched;
}
