import Testing
import Wire
@testable import Relay

@Suite("Lines: LineCommand")
struct LineCommandTests {
    @Test(
        "commands name symbols and a form",
        arguments: [
            ("prices A", .follow(["A"], .latest, nil)),
            ("  prices   A  B json ", .follow(["A", "B"], .latest, .json)),
            ("trades * plain", .follow([], .all, .plain)),
            ("trades A *", .follow([], .all, nil)),
            ("stop A", .stop(["A"])),
            ("stop *", .stop([])),
            ("help", .help),
            ("quit", .quit),
        ] as [(String, LineCommand)]
    )
    func commands(_ line: String, _ expected: LineCommand) { #expect(LineCommand.parse(line) == expected) }

    @Test(
        "anything else is named in the answer, except for a token",
        arguments: [
            ("prices", "prices needs a symbol, or * for all"),
            ("trades json", "trades needs a symbol, or * for all"),
            ("stop", "stop needs a symbol, or * for all"),
            ("PRICES A", "unknown command PRICES; send help"),
            ("token:abcdefgh", "the token belongs into the first line"),
        ]
    )
    func faults(_ line: String, _ reason: String) { #expect(LineCommand.parse(line) == .faulty(reason)) }
}
