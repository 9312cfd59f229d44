// One trade: what it came to, its picture, and everything that was filled for it or moved its stop, numbered as in the picture.

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api, read, type Schemas } from '../../api/client.ts';
import { accounts } from '../../api/queries.ts';
import { CopyId } from '../../parts/copy.tsx';
import { DeletedAccount, Held, Side, Unreal } from '../../parts/figures.tsx';
import { figure, money, unrealOf } from '../../parts/numbers.ts';
import { Led, Page, Skeleton } from '../../parts/page.tsx';
import { Path } from '../../parts/path.tsx';
import { No, PriceChart } from '../../parts/price-chart/price-chart.tsx';
import { useTold } from '../../parts/price-chart/told.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useTogether } from '../../parts/together.ts';
import { When } from '../../parts/when.tsx';
import styles from './trade-story.module.css';
import { averagePrice, endInWords, fillInWords, heldInWords } from './words.ts';

type Story = Schemas['TradeStory'];

export default function TradeStory() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const asked = useQuery({
    queryKey: ['trades', 'one', id],
    queryFn: () => read(api.GET('/trading/trades/{id}', { params: { path: { id } } })),
  });
  const { data, error, refetch } = asked;
  const isThere = useTogether(asked, useQuery(accounts));
  if (data && isThere)
    return (
      <>
        <Path to="/trades" name="Trades">
          <When at={data.opened_at} />
        </Path>
        <Told trade={data} />
      </>
    );
  return (
    <>
      <Path to="/trades" name="Trades" />
      <Page title="Trade" answer={<span className="quiet">What became of a trade</span>}>
        {error ? <ProblemNote fault={error} onAgain={refetch} /> : <Skeleton rows={8} />}
      </Page>
    </>
  );
}

function Told({ trade }: { readonly trade: Story }) {
  const { data: all } = useQuery(accounts);
  const { symbol, side, quantity, profit, currency, strategy, held_ms } = trade;
  const { numbered, stop, targets, protectionId } = useTold(trade);
  const account = all?.find(({ id }) => id === trade.trading_account_id);
  const word = unrealOf(trade, account);
  const held = held_ms === null ? '' : ` for ${heldInWords(held_ms)}`;
  const sum = trade.closed_at === null ? 'so far' : 'after fees';
  return (
    <Page
      title={`${money(profit)} ${currency}: ${side} ${figure(quantity)} ${symbol}`}
      answer={
        <>
          {money(profit)} {currency} {sum}: {side} {figure(quantity)} {symbol}
          {held}, <span className="quiet">{endInWords(trade)}</span>
        </>
      }
      facts={
        <>
          <span>
            {account ? (
              <Link to={`/accounts/${account.id}` as never}>{account.name}</Link>
            ) : (
              all && <DeletedAccount />
            )}{' '}
            <Unreal word={word} />
          </span>
          <span>
            <Side side={side} /> <When at={trade.opened_at} />{' '}
            {trade.closed_at && (
              <>
                to <When at={trade.closed_at} />
              </>
            )}
          </span>
          <span>
            {averagePrice(trade.entry_price)} →{' '}
            {trade.exit_price === null ? 'not known' : averagePrice(trade.exit_price)}
          </span>
          {strategy && (
            <span>
              strategy{' '}
              <Link to="/trades" search={{ strategy, range: 'all' } as never}>
                {strategy}
              </Link>
            </span>
          )}
          <span>
            fees <b>{money(-trade.fees)}</b> {currency}
            {trade.fees_unknown > 0 && `, of ${figure(trade.fees_unknown)} fills not known`}
          </span>
          <span>slippage {trade.slippage === null ? 'not known' : <b>{money(trade.slippage)}</b>}</span>
          <span>
            trade <CopyId id={trade.id} />
          </span>
        </>
      }
    >
      <PriceChart
        accountId={trade.trading_account_id}
        symbol={symbol}
        side={side}
        opened={trade.opened_at}
        closed={trade.closed_at}
        numbered={numbered}
        stop={stop}
        targets={targets}
        entry={trade.entry_price}
        isUnreal={word !== null}
      />
      <Led>
        <table className={`table listed ${styles.fills} ${word ? 'hatched' : ''}`}>
          <thead>
            <tr>
              <th scope="col">
                <h2>What happened</h2>
              </th>
              <th scope="col">
                <span className="unseen">What</span>
              </th>
              <th scope="col" className="num">
                Price
              </th>
              <th scope="col" className="num">
                Asked for
              </th>
              <th scope="col" className="num">
                Position
              </th>
              <th scope="col" className="num compared">
                After fees, {currency}
              </th>
              <th scope="col">By</th>
            </tr>
          </thead>
          <tbody>
            {numbered.map((one) => {
              const { no, at, fill, move } = one;
              if (!fill)
                return (
                  <tr key={no}>
                    <td className={styles.when}>
                      <No one={one} /> <When at={at} milliseconds />
                    </td>
                    <td className={styles.did} colSpan={5}>
                      {move.words}
                    </td>
                    <td>
                      <Link to={`/protections/${protectionId}` as never}>every move</Link>
                    </td>
                  </tr>
                );
              return (
                <tr key={no}>
                  <td className={styles.when}>
                    <No one={one} /> <When at={at} milliseconds />
                  </td>
                  <td className={styles.did}>{fillInWords(fill)}</td>
                  <td className="num" data-head="price">
                    {fill.price === null ? (
                      <span className="quiet">not known</span>
                    ) : (
                      averagePrice(fill.price)
                    )}
                  </td>
                  <td className={`num ${styles.maybe}`} data-head="asked for">
                    {fill.asked_price !== null && figure(fill.asked_price)}
                  </td>
                  <td className="num" data-head="position">
                    <Held position={fill.position} />
                  </td>
                  <td className="num" data-head="after fees">
                    {fill.profit === null ? <span className="quiet">not known</span> : money(fill.profit)}
                  </td>
                  <td>
                    {fill.order_id === null ? (
                      <span className="quiet">somebody else</span>
                    ) : (
                      <Link to={`/orders/${fill.order_id}` as never}>
                        {fill.closed_by ?? strategy ?? 'its order'}
                      </Link>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={5} className={styles.sumName}>
                {trade.closed_at === null ? 'so far' : 'in all'}
              </td>
              <td className="num">
                <b className={styles.sum}>{money(profit)}</b>
              </td>
              <td />
            </tr>
          </tfoot>
        </table>
      </Led>
    </Page>
  );
}
