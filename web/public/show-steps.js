// The elements of a workflow's steps, and of the question that one of them asks.

import { tell } from './server.js';
import { addParts, fill, make, say, sync, view } from './show.js';
import { shorten } from './words.js';

/** Shows the steps of what is selected; none: it is no workflow. */
export function showSteps(steps) {
  view('steps-view').hidden = !steps;
  if (!steps) return;
  say('steps-title', `Steps of ${steps.title}`);
  say('steps-summary', steps.summary);
  sync(view('steps'), steps.rows, createStep, updateStep);
  say('steps-more', steps.left > 0 ? `${steps.left} more: "stemma workflow show" shows them.` : '');
}

function createStep() {
  const item = document.createElement('li');
  addParts(item);
  return item;
}

function updateStep(item, row) {
  fill(item, row);
  const { question } = row;
  const form = item.querySelector('form');
  if (form?.dataset.question === (question && keyOf(question))) return;
  form?.remove();
  if (question) item.append(questionForm(question));
}

function keyOf({ executionId, questionId }) {
  return `${executionId} ${questionId}`;
}

// Whoever answers while another question stands there already is told so: the answer names the question.
function questionForm(question) {
  const form = document.createElement('form');
  form.className = 'question';
  form.dataset.question = keyOf(question);
  const text = make('bdi', 'asked');
  text.textContent = question.text;
  const told = make('span', 'told');
  told.setAttribute('role', 'status');
  form.append(text, ...answersOf(question), told);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const field = form.querySelector('input');
    const said = field ? { text: field.value } : { choice: event.submitter?.value };
    answer(form, told, question, said);
  });
  return form;
}

function answersOf({ choices }) {
  if (choices.length > 0) return choices.map((choice) => button(shorten(choice, 80), choice));
  const field = document.createElement('input');
  field.required = true;
  field.setAttribute('aria-label', 'Answer');
  return [field, button('Answer', '')];
}

function button(label, value) {
  const element = document.createElement('button');
  element.type = 'submit';
  element.value = value;
  element.textContent = label;
  return element;
}

async function answer(form, told, { executionId, questionId }, said) {
  const buttons = form.querySelectorAll('button');
  for (const each of buttons) each.disabled = true;
  told.textContent = 'Sending…';
  try {
    await tell(`/executions/${encodeURIComponent(executionId)}/answer`, { ...said, questionId });
    told.textContent = 'Answered.';
  } catch (error) {
    told.textContent = error.message;
    for (const each of buttons) each.disabled = false;
  }
}
