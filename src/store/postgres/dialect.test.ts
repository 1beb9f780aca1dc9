import { describe, expect, it } from 'vitest';
import { tablesIn, translated } from './dialect.ts';

describe('a shared statement for PostgreSQL', () => {
  it.each([
    [
      'numbers its parameters, but no question mark of a text',
      "SELECT '?' WHERE a = ? AND b = ?",
      "SELECT '?' WHERE a = $1 AND b = $2",
    ],
    ['keeps the numbers that it has', 'SELECT ?2, ?1, ?2', 'SELECT $2, $1, $2'],
    [
      'leaves out hints',
      'SELECT id FROM runs INDEXED BY runs_running WHERE a = ?',
      'SELECT id FROM runs  WHERE a = $1',
    ],
    [
      'lets the planner choose the order of a join',
      'FROM a CROSS JOIN b ON b.id = a.id',
      'FROM a JOIN b ON b.id = a.id',
    ],
    ['gives a parameter that may be absent a type', '(? IS NULL OR a = ?)', '($1::TEXT IS NULL OR a = $2)'],
    ['finds texts with quotes in them', "a = 'it''s ?' AND b = ?", "a = 'it''s ?' AND b = $1"],
  ])('%s', (_, given, expected) => {
    expect(translated(given)).toBe(expected);
  });

  it('names its tables', () => {
    const sql = 'SELECT 1 FROM holds h JOIN executions e ON e.id = h.x WHERE EXISTS (SELECT 1 FROM notices)';
    expect([...tablesIn(sql)].sort()).toEqual(['executions', 'holds', 'notices']);
  });
});
