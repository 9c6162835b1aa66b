"""A session over the network. The only imports of FastAPI, Starlette and Uvicorn.

session ──► hub/ ──► http/          hub/      a query is read along once, for all who look at it
                                    http/     HTTP, WebSocket, the page
rights/   who may do what           shown/    what there is, as a map wants to know it, and in which form
health/   how it is doing           static/   the page as `make web` has built it
postgres/ psql and drivers

serve.py  a thread with a loop      service.py  all that a server has      run.py  `sanderling serve`
"""
