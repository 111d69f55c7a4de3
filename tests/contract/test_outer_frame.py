"""The outer frame's contract over fake windows: the same test bodies as in Chromium, where they need no real page."""

# ruff: noqa: F401  what is imported here is run from here, with the fixtures of this folder

from tests.browser.test_contract_handshake import (
    test_a_page_that_never_accepts_runs_into_the_deadline,
    test_a_page_that_never_speaks_runs_into_the_deadline,
    test_a_repeated_handshake_is_answered_again_with_the_same_session,
    test_a_sandbox_that_keeps_the_origin_works,
    test_a_session_opens_and_carries_a_call,
    test_a_version_that_nobody_here_speaks_ends_it,
    test_accepting_another_session_is_refused,
    test_an_opaque_sandbox_works_where_it_was_opted_in_to,
    test_every_dialect_is_understood,
    test_the_reply_names_session_and_version_and_goes_to_the_page_itself,
    test_what_comes_before_the_handshake_is_refused_and_changes_nothing,
)
from tests.browser.test_contract_messages import (
    test_a_page_that_does_not_answer_is_told_and_so_is_that_it_does_again,
    test_a_refused_request_of_the_page_is_answered_with_an_error,
    test_each_malformed_message_is_reported_and_changes_nothing,
    test_keys_that_reach_a_prototype_are_refused_both_ways,
    test_limits_of_one_message_hold_both_ways,
    test_ordinary_words_pass_both_ways,
    test_ten_megabytes_cross_both_ways,
    test_the_page_may_ask_for_its_setup_again,
    test_too_many_requests_of_our_own_fail_at_once,
)
from tests.browser.test_contract_setup import (
    test_a_name_that_is_none_is_never_granted,
    test_a_setup_that_fails_says_how,
    test_a_setup_whose_end_cannot_be_read_is_over,
    test_deadlines_of_a_setup,
    test_transport_messages_have_no_place_in_a_setup,
)
from tests.browser.test_contract_setup import (
    test_every_dialect_is_understood as test_every_dialect_of_a_setup_is_understood,
)
from tests.browser.test_contract_wire import (
    test_a_message_of_our_own_that_is_refused_is_told,
    test_a_refused_message_of_the_page_is_told_before_what_follows_from_it,
    test_a_session_is_told_in_order,
)
from tests.browser.test_matrix import (
    test_damaged_messages_in_a_handshake,
    test_damaged_messages_in_a_session,
    test_damaged_messages_in_a_setup,
)
