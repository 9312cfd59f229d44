interface Paged {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

export function More({ query, children = 'More' }: { readonly query: Paged; readonly children?: string }) {
  if (!query.hasNextPage) return null;
  return (
    <p>
      <button
        type="button"
        className="button"
        disabled={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {children}
      </button>
    </p>
  );
}
