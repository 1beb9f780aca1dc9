import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import view from '../../ui/view.module.css';
import { newDraft } from './schedule-draft.ts';
import { ScheduleEditor } from './schedule-editor.tsx';

/** A schedule that is not there yet: its name, and what it says. */
export function NewSchedule({ onEnd }: { readonly onEnd: () => void }): ReactNode {
  const navigate = useNavigate();
  const [project, setProject] = useState('default');
  const [name, setName] = useState('');
  return (
    <section className={view.panel} aria-label="New schedule">
      <h2>New schedule</h2>
      <div className={view.fields}>
        <label className={view.field}>
          Project
          <input value={project} onChange={({ target }) => setProject(target.value)} />
        </label>
        <label className={view.field}>
          Name
          <input value={name} onChange={({ target }) => setName(target.value)} placeholder="nightly" />
        </label>
      </div>
      <ScheduleEditor
        named={{ project: project.trim(), name: name.trim() }}
        before={undefined}
        first={newDraft}
        onEnd={(isDone) => {
          onEnd();
          if (isDone)
            void navigate({
              to: '/schedules/$project/$name',
              params: { project: project.trim(), name: name.trim() },
            });
        }}
      />
    </section>
  );
}
