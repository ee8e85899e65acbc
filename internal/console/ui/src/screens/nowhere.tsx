import { Link } from '@tanstack/react-router';

export function Nowhere() {
  return (
    <>
      <h1>There is nothing here</h1>
      <p>
        The address may be of another version of the console. <Link to="/">Back to the overview</Link>
      </p>
    </>
  );
}
