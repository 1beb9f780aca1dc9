import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './app/router.tsx';
import { Live } from './live/live.tsx';
import './ui/tokens.css';
import './ui/base.css';

const page = document.getElementById('page');
if (page)
  createRoot(page).render(
    <StrictMode>
      <Live>
        <RouterProvider router={router} />
      </Live>
    </StrictMode>,
  );
