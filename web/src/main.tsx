import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './app/router.tsx';
import { Live } from './live/live.tsx';
import { chosenScheme, showScheme } from './ui/scheme.ts';
import './ui/tokens.css';
import './ui/base.css';

// Before anything is drawn.
showScheme(chosenScheme());
const page = document.getElementById('page');
if (page)
  createRoot(page).render(
    <StrictMode>
      <Live>
        <RouterProvider router={router} />
      </Live>
    </StrictMode>,
  );
