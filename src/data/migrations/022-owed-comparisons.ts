// A comparison with the broker that a `sync` left for later: an order was under way, or the alert of what it reports may yet come.

export const owedComparisons = `
-- not before this time; null: none is owed
alter table strategy_positions add column compare_at {time};
-- what seems to be a missed alert is to be told of then
alter table strategy_positions add column owes_gap {boolean} not null default {false};
create index strategy_positions_owed on strategy_positions (compare_at) where compare_at is not null;
-- what is pruned: those that say nothing any more
create index strategy_positions_silent on strategy_positions (arrived_at) where side is null;
`;
