import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Message } from '../ui/message.tsx';

/** What is shown for an address that names no view. */
export function NotFound(): ReactNode {
  return (
    <Message title="There is no such page">
      The address names nothing that is here. <Link to="/">What runs now</Link>
    </Message>
  );
}
