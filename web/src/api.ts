// The HTTP part: questions and what comes back; a refusal is an error that says where and why.
import {Refused, type About, type Problem, type Query, type Stream} from './wire';

const ROOT = '/api/v1';

async function ask(verb: string, path: string, body?: unknown): Promise<Response> {
  try {
    return await fetch(path.startsWith('/') ? path : `${ROOT}/${path}`, {
      method: verb,
      headers: {Accept: 'application/json', ...(body === undefined ? {} : {'Content-Type': 'application/json'})},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refused({code: 'page.no_server', detail: 'The server cannot be reached.', status: 0});
  }
}

async function call<T>(verb: string, path: string, body?: unknown): Promise<T> {
  return (await answered(await ask(verb, path, body))) as T;
}

async function answered(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) throw new Refused(problemOf(text, response));
  return text ? JSON.parse(text) : null;
}

function problemOf(text: string, response: Response): Problem {
  try {
    return {code: 'page.refused', detail: response.statusText, ...(JSON.parse(text) as object), status: response.status};
  } catch {
    return {code: 'page.refused', detail: `${response.status} ${response.statusText}`, status: response.status};
  }
}

export const about = (): Promise<About> => call('GET', '/api/v1');
/** A part of a long list, and how long it is. */
export async function page<T>(path: string, which: Record<string, string | number>): Promise<{rows: T[]; total: number}> {
  const response = await ask('GET', `${path}?${said(which)}`);
  const rows = (await answered(response)) as T[];
  return {rows, total: Number(response.headers.get('X-Total-Count') ?? rows.length)};
}

export const streams = (): Promise<Stream[]> => call('GET', 'streams');
export const queries = (which: Record<string, string | number>): Promise<Query[]> => call('GET', `queries?${said(which)}`);
export const register = (name: string, select: string): Promise<unknown> => call('PUT', `queries/${encodeURIComponent(name)}`, {select});
export const drop = (name: string): Promise<unknown> => call('DELETE', `queries/${encodeURIComponent(name)}`);
export const run = (sql: string): Promise<unknown> => call('POST', 'sql', {sql});
export const check = (sql: string): Promise<unknown> => call('POST', 'sql?dry=true', {sql});
export const get = <T>(path: string): Promise<T> => call('GET', path);

function said(which: Record<string, string | number>): string {
  return new URLSearchParams(Object.entries(which).map(([name, value]) => [name, String(value)])).toString();
}

/** Words for a refusal, wherever it came from. */
export function problemIn(e: unknown): Problem {
  return e instanceof Refused ? e.problem : {code: 'page.failed', detail: e instanceof Error ? e.message : String(e)};
}
