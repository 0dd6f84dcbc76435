import NIOConcurrencyHelpers
import Testing
@testable import MockUpstream

@Suite("Damage in a recording")
struct RecordingDamageTests {
    @Test("places beyond the limit are counted, but neither stored nor reported")
    func overflow() {
        let damage = RecordingDamage(maximumPlaces: 3)
        let reported = NIOLockedValueBox(0)
        damage.watch { _ in reported.withLockedValue { $0 += 1 } }
        for offset in 0..<2 { damage.found(line: Int64(offset), reason: "test", in: 0, path: "a") }
        damage.found(part: 5..<9, isTail: false, in: 0, path: "a")
        #expect(damage.summary == "2 damaged lines and 1 damaged part")
        // Known places count once.
        damage.found(line: 0, reason: "test", in: 0, path: "a")
        #expect(damage.summary == "2 damaged lines and 1 damaged part")
        damage.found(part: 10..<12, isTail: false, in: 0, path: "a")
        damage.found(line: 13, reason: "test", in: 0, path: "a")
        damage.found(line: 13, reason: "test", in: 0, path: "a")
        #expect(damage.lines == 4 && damage.parts == 2 && reported.withLockedValue { $0 } == 3)
        let words = "4 damaged lines and 2 damaged parts (some of them perhaps counted more than once)"
        #expect(damage.summary == words)
        damage.found(part: 20..<21, isTail: true, in: 0, path: "a")
        #expect(damage.cutOff == ["a"])
    }
}
