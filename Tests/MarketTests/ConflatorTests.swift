import Market
import Testing

@Suite struct ConflatorTests {
    /// One run of a conflator, drawn as lines of 10 ms a character.
    struct Case: Sendable, CustomTestStringConvertible {
        var behaviour: String
        var input: String
        var output: String
        var skipped: [UInt64]
        var quiet: Int64 = 3
        var atMost: Int64? = 8

        var testDescription: String { self.behaviour }
    }

    static let cases: [Case] = [
        Case(behaviour: "the first value comes at once", input: "A-----|", output: "A-----|", skipped: [0]),
        Case(
            behaviour: "a change comes when it has been quiet",
            input: "A-B-----|",
            output: "A----B--|",
            skipped: [0, 0]
        ),
        Case(
            behaviour: "of quick changes only the last comes",
            input: "A-BCD-----|",
            output: "A------D--|",
            skipped: [0, 2]
        ),
        Case(
            behaviour: "unchanged values are left out and do not disturb the quiet",
            input: "AAA-BBBB-----|",
            output: "A------B-----|",
            skipped: [0, 4]
        ),
        Case(
            behaviour: "values that never rest come at most so late",
            input: "ABCDEFGHIJKLMNOP|",
            output: "A--------I------P|",
            skipped: [0, 7, 6]
        ),
        Case(
            behaviour: "the classic debounce shows nothing while values never rest",
            input: "ABCDEFGHIJKLMNOP----|",
            output: "A-----------------P-|",
            skipped: [0, 14],
            atMost: nil
        ),
        Case(behaviour: "the last value always comes", input: "A-BC|", output: "A---C|", skipped: [0, 1]),
        Case(
            behaviour: "a value that comes back shows nothing, and is counted",
            input: "A-B-A---------C----|",
            output: "A----------------C-|",
            skipped: [0, 2]
        ),
        Case(
            behaviour: "a value that flaps is shown when the limit has passed",
            input: "A-BABABABABABA-----|",
            output: "A---------B-----A--|",
            skipped: [0, 8, 2]
        ),
        Case(
            behaviour: "with no quiet every change comes at once",
            input: "A(BBC)-C-A|",
            output: "A(BC)---A|",
            skipped: [0, 0, 1, 1],
            quiet: 0
        ),
        Case(
            behaviour: "many values of one moment are one change",
            input: "A-(BCBD)----|",
            output: "A----D-|",
            skipped: [0, 3]
        ),
        Case(behaviour: "the end of nothing is nothing", input: "----|", output: "----|", skipped: []),
    ]

    @Test("lines of marbles", arguments: Self.cases)
    func marbles(_ example: Case) {
        let result = MarbleDiagram(example.input).conflated(quiet: example.quiet, atMost: example.atMost)
        #expect(result.line.description == example.output)
        #expect(result.skipped == example.skipped)
    }

    @Test("a timer that fires late changes when values are shown, not which")
    func lateTimer() {
        let input = MarbleDiagram("A-BC----D---ED------F|")
        let (onTime, late) = (input.conflated(quiet: 3, atMost: 8), input.conflated(quiet: 3, atMost: 8, late: 3))
        #expect(onTime.line.description == "A-----C----D---------F|")
        let values = { (line: MarbleDiagram) in line.moments.sorted { $0.key < $1.key }.flatMap(\.value) }
        #expect(values(late.line) == values(onTime.line))
        #expect(late.skipped == onTime.skipped)
    }

    @Test("whatever comes: no two equal values, none later than the limit, the last one shown, all counted")
    func properties() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<300 {
            let (quiet, atMost) = (Int64.random(in: 1...50, using: &random), Int64.random(in: 1...100, using: &random))
            var conflator = Conflator<Int>(quiet: quiet, atMost: atMost)
            var now: Int64 = 0
            var (shown, latest): (Int?, Int?) = (nil, nil)
            var differsSince: Int64?
            var accounted: UInt64 = 0
            var values: UInt64 = 0
            func show(_ emission: Conflator<Int>.Emission?) {
                guard let emission else { return }
                #expect(emission.value != shown)
                shown = emission.value
                accounted += emission.skipped + 1
                if shown == latest { differsSince = nil }
            }
            for _ in 0..<200 {
                let next = now + Int64.random(in: 0...20, using: &random)
                while let deadline = conflator.deadline, deadline <= next { show(conflator.fire(now: deadline)) }
                now = next
                let value = Int.random(in: 0..<3, using: &random)
                values += 1
                latest = value
                if value == shown { differsSince = nil } else if differsSince == nil { differsSince = now }
                show(conflator.take(value, now: now))
                if let differsSince { #expect(now - differsSince <= atMost) }
            }
            show(conflator.flush())
            #expect(shown == latest)
            #expect(accounted <= values)
            #expect(conflator.deadline == nil)
        }
    }
}
