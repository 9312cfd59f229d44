// What a stranger sees. It asks for nothing but /health, and loads nothing of the pages inside.

import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, read } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { publicConfig } from '../../api/queries.ts';
import { Mark } from '../../parts/marks.tsx';
import { figure } from '../../parts/numbers.ts';
import { Outside } from '../../parts/outside.tsx';
import { useTitle } from '../../parts/page.tsx';
import { Example } from './example.tsx';
import styles from './landing.module.css';

const health = queryOptions({
  queryKey: ['health'],
  queryFn: () => read(api.GET('/health')),
  refetchInterval: 10_000,
});

const GUARANTEES = [
  {
    name: 'Genuine',
    says: 'A signal trades only if it carries your secret, arrives in time, and comes from where you allow. Whatever else reaches your webhook is refused, listed, and reported to you.',
  },
  {
    name: 'Once',
    says: 'The same signal never trades twice, not after a crash, a restart or a second delivery. Whatever the broker leaves uncertain is looked up, never blindly sent again.',
  },
  {
    name: 'Verified',
    says: 'An order is followed until the broker says how it ended. Your strategy’s position and the broker’s are compared, and a missed alert is noticed.',
  },
] as const;

export default function Landing() {
  useTitle('Signals become orders');
  const links = (
    <>
      <a href="/docs">Docs</a>
      <Link to="/terms">Terms</Link>
      <Link to="/login">Log in</Link>
      <Link to="/register" className="button">
        Register
      </Link>
    </>
  );
  return (
    <Outside links={links}>
      <div className={styles.first}>
        <div>
          <h1 className={styles.headline}>Your alert becomes an order, once, and you can prove it</h1>
          <p className={styles.lead}>
            Fillpath turns the alerts of a charting platform into orders on your own broker account, in
            milliseconds. It runs on your machine, follows each order until it is filled, and keeps the story
            of every signal.
          </p>
          <Ways />
          <Health />
        </div>
        <div>
          <Example />
          <h3 className={styles.command}>On your own machine, nothing else needed</h3>
          <pre className="ink">
            <code>npm ci &amp;&amp; npm start</code>
          </pre>
        </div>
      </div>
      <div className={styles.guarantees}>
        {GUARANTEES.map(({ name, says }) => (
          <section key={name}>
            <h2>{name}</h2>
            <p>{says}</p>
          </section>
        ))}
      </div>
    </Outside>
  );
}

function Ways() {
  const { data: config } = useQuery(publicConfig);
  return (
    <p className={styles.ways}>
      {config?.demo ? (
        <Link to="/login" className="button primary">
          Look around as the demo user
        </Link>
      ) : (
        <Link to="/register" className="button primary">
          Start with a paper account
        </Link>
      )}
      <a href="/docs" className="button">
        Read how it works
      </a>
    </p>
  );
}

/** What is not known is left out. */
function Health() {
  const { data, error } = useQuery(health);
  const isDown = data ? data.status === 'down' : problemOf(error).status === 503;
  const word = error && !isDown ? 'does not answer' : isDown ? 'down' : data ? `up, ${data.version}` : '';
  const hosts = data?.workers.hosts;
  const checks = data?.queues.fill_checks;
  return (
    <dl className={styles.health}>
      <div>
        <dt>this service</dt>
        <dd>
          {word && <Mark name={isDown || error ? 'placed' : 'dot'} className={styles.up ?? ''} />} {word}
        </dd>
      </div>
      {hosts !== undefined && (
        <div>
          <dt>{hosts === 1 ? 'host that sends orders' : 'hosts that send orders'}</dt>
          <dd>{figure(hosts)}</dd>
        </div>
      )}
      {checks !== undefined && (
        <div>
          <dt>fills being looked up</dt>
          <dd>{figure(checks)}</dd>
        </div>
      )}
    </dl>
  );
}
