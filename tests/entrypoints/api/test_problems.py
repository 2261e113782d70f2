"""Failures that concern no event: routes that are not there, and faults of our own."""

from sqlalchemy import text

from tests.entrypoints.api.server import Api, event, problem
from tests.entrypoints.sandbox.world import until


def test_an_unknown_path_is_404(api: Api) -> None:
    """Also a known one with a slash too many; nobody is sent elsewhere with a body."""
    problem(api.http.get("/v1/nothing"), 404)
    problem(api.http.post("/v1/events/", content=b"{}"), 404)


def test_another_method_is_405(api: Api) -> None:
    """The answer says which methods there are."""
    answer = api.http.get("/v1/events")
    problem(answer, 405)
    assert answer.headers["Allow"] == "POST"


def test_a_fault_of_ours_is_500_and_logged(own_api: Api) -> None:
    """The sender learns nothing of our inside, and our log learns all."""
    with own_api.database.begin() as connection:
        connection.execute(text("ALTER TABLE order_events RENAME TO hidden"))
    document = problem(own_api.post(event()), 500)
    assert "order_events" not in str(document)
    until(lambda: 'relation "order_events" does not exist' in own_api.log)


def test_the_description_names_bodies_answers_and_problems(api: Api) -> None:
    """What a client needs to know stands in the OpenAPI document."""
    described = api.http.get("/openapi.json").json()
    post = described["paths"]["/v1/events"]["post"]
    assert set(post["requestBody"]["content"]) == {
        "application/cloudevents+json",
        "application/cloudevents-batch+json",
    }
    assert set(post["responses"]) == {"202", "400", "401", "403", "408", "409", "413", "415", "422", "503", "default"}
    assert set(post["responses"]["409"]["content"]) == {"application/problem+json"}
    assert set(described["components"]["schemas"]["ReceiptDocument"]["properties"]) == {
        "accepted",
        "duplicates",
        "conflicts",
        "rejected",
    }
    assert set(described["components"]["schemas"]["PointsDocument"]["properties"]) == {
        "customer_id",
        "balance",
        "debt",
        "lots",
    }
    assert described["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
