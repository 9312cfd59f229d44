// The rest of a list, a page at a time.

interface Paged {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

export function More({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
  className = 'button',
  children = 'More',
}: {
  readonly query: Paged;
  readonly className?: string;
  readonly children?: string;
}) {
  if (!hasNextPage) return null;
  return (
    <button
      type="button"
      className={className}
      // A button that is `disabled` loses the focus: who reads on by the keyboard would begin at the top again.
      aria-disabled={isFetchingNextPage}
      onClick={() => void (isFetchingNextPage || fetchNextPage())}
    >
      {children}
    </button>
  );
}
