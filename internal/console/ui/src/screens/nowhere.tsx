import { Link } from '@tanstack/react-router';

export function Nowhere() {
  return (
    <>
      <h1>Page not found</h1>
      <p>
        The address may belong to another version of the console. <Link to="/">Go to the overview</Link>
      </p>
    </>
  );
}
