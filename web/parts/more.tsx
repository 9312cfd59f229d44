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
      disabled={isFetchingNextPage}
      onClick={() => void fetchNextPage()}
    >
      {children}
    </button>
  );
}
