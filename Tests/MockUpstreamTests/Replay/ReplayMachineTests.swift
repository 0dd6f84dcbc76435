import Feeds
import Market
import MockUpstream
import Testing

/// Transcripts: the recording's times are ns from 0 to 1,000, and its wall clock begins at 1,000,000.
@Suite("A replay's state machine")
struct ReplayMachineTests {
    private static let start: Int64 = 1_000_000

    private func machine(
        speed: Double? = 1,
        _ change: (inout ReplayMachine.Settings) -> Void = { _ in }
    ) -> ReplayMachine {
        var settings = ReplayMachine.Settings(speed: speed)
        change(&settings)
        return ReplayMachine(settings, bounds: 0...1_000)
    }

    private func ask(_ machine: inout ReplayMachine, _ request: ReplayRequest, now: Int64) -> ReplayMachine.Action {
        machine.requested(request, start: Self.start, now: now)
    }

    private func play(_ machine: inout ReplayMachine, _ recorded: Int64, now: Int64) {
        #expect(machine.next(recorded: recorded, now: now) == .play, "message of \(recorded)")
        machine.played(recorded: recorded, now: now)
    }

    @Test("the first message is due at once, the others at their distance")
    func pace() {
        var machine = self.machine(speed: 10)
        self.play(&machine, 100, now: 50)
        #expect(machine.next(recorded: 200, now: 55) == .wait(until: 60))
        self.play(&machine, 200, now: 60)
        #expect(machine.position(start: Self.start, now: 65).at == Self.start + 250)
    }

    @Test("one that stays at its end pauses there, begins again when it is played on, and plays on from another place")
    func staysAtEnd() {
        var machine = self.machine { $0.staysAtEnd = true }
        self.play(&machine, 0, now: 0)
        var isOver = machine.reachedEnd(now: 900)
        #expect(!isOver && machine.isPaused)
        #expect(machine.position(start: Self.start, now: 5_000).at == Self.start + 1_000)
        #expect(self.ask(&machine, .togglePause, now: 5_000) == .seek(0))
        machine.jumped(to: 0, now: 5_000)
        #expect(!machine.isPaused)
        self.play(&machine, 0, now: 5_000)
        #expect(machine.next(recorded: 300, now: 5_000) == .wait(until: 5_300))
        // Paused by a person, it does not begin again.
        #expect(self.ask(&machine, .pause, now: 5_100) == .changed)
        isOver = machine.reachedEnd(now: 5_100)
        #expect(!isOver)
        #expect(self.ask(&machine, .togglePause, now: 5_100) == .changed)
        isOver = machine.reachedEnd(now: 6_000)
        #expect(!isOver)
        // A step goes to another place and pauses there.
        machine.jumped(to: 400, pauses: true, now: 6_000)
        #expect(machine.position(start: 0, now: 6_000).isPaused)
    }

    @Test("a market's first message comes at its time, too")
    func waitsForFirst() {
        var machine = self.machine(speed: 10) { $0.waitsForFirst = true }
        #expect(machine.next(recorded: 100, now: 50) == .wait(until: 60))
        self.play(&machine, 100, now: 60)
        #expect(machine.position(start: Self.start, now: 60).at == Self.start + 100)
    }

    @Test("a pause holds the next message, and after it the distance is what was left of it")
    func pause() {
        var machine = self.machine()
        self.play(&machine, 0, now: 0)
        #expect(self.ask(&machine, .pause, now: 40) == .changed)
        #expect(self.ask(&machine, .pause, now: 41) == .none)
        #expect(machine.next(recorded: 100, now: 5_000) == .hold)
        #expect(machine.position(start: Self.start, now: 5_000).at == Self.start + 40)
        #expect(machine.position(start: Self.start, now: 5_000).isPaused)
        #expect(self.ask(&machine, .togglePause, now: 6_000) == .changed)
        #expect(machine.next(recorded: 100, now: 6_000) == .wait(until: 6_060))
    }

    @Test("a step of no messages or of too many is refused, down to the least number there is")
    func stepsRefused() {
        for count in [0, 100_001, -100_001, Int.max, Int.min] {
            var machine = self.machine()
            guard case .refuse(let refusal) = self.ask(&machine, .stepMessages(count), now: 0) else {
                Issue.record("\(count) was taken")
                continue
            }
            #expect(refusal.description == "a step is 1 to 100000 messages, or back")
        }
        var machine = self.machine()
        #expect(self.ask(&machine, .stepMessages(-100_000), now: 0) == .goBack(messages: 100_000))
    }

    @Test("faster and slower follow the fixed speeds, up to max")
    func rungs() {
        var machine = self.machine(speed: 3)
        let up = (0..<12).map { _ -> Double? in
            _ = self.ask(&machine, .faster, now: 0)
            return machine.speed
        }
        #expect(up == [5, 10, 25, 50, 100, 250, 500, 1_000, nil, nil, nil, nil])
        let down = (0..<15).map { _ -> Double? in
            _ = self.ask(&machine, .slower, now: 0)
            return machine.speed
        }
        #expect(down == [1_000, 500, 250, 100, 50, 25, 10, 5, 2, 1, 0.5, 0.25, 0.1, 0.1, 0.1])
        #expect(self.ask(&machine, .speed(0), now: 0) == .refuse(ReplayRefusal("a speed is 0.01 to 10000, or max")))
        #expect(self.ask(&machine, .speed(.nan), now: 0) != .changed)
        #expect(self.ask(&machine, .speed(.infinity), now: 0) != .changed)
    }

    @Test("a step of messages plays them at once and pauses at the last; those without trades do not count")
    func stepMessages() {
        var machine = self.machine { $0.isPaused = true }
        #expect(machine.next(recorded: 10, now: 0) == .hold)
        #expect(self.ask(&machine, .stepMessages(2), now: 5) == .changed)
        self.play(&machine, 10, now: 5)
        #expect(machine.next(recorded: 20, now: 5) == .play)
        machine.played(recorded: 20, counts: false, now: 5)
        self.play(&machine, 500, now: 5)
        #expect(machine.next(recorded: 600, now: 9_999) == .hold)
        #expect(machine.position(start: Self.start, now: 9_999).at == Self.start + 500)
        #expect(self.ask(&machine, .stepMessages(0), now: 5) != .changed)
        #expect(self.ask(&machine, .stepMessages(-3), now: 5) == .goBack(messages: 3))
        #expect(self.ask(&machine, .stepMessages(.min + 1), now: 5) != .goBack(messages: .max))
    }

    @Test("a step of time plays the messages in it and pauses at its end; a step back is a seek")
    func stepTime() {
        var machine = self.machine()
        self.play(&machine, 0, now: 0)
        #expect(self.ask(&machine, .stepTime(250), now: 50) == .changed)
        self.play(&machine, 100, now: 50)
        self.play(&machine, 300, now: 50)
        #expect(machine.next(recorded: 301, now: 50) == .hold)
        #expect(machine.position(start: Self.start, now: 60).at == Self.start + 300)
        #expect(machine.isPaused)
        #expect(self.ask(&machine, .stepTime(-100), now: 70) == .seek(200, pauses: true))
        #expect(self.ask(&machine, .stepTime(.min), now: 70) == .seek(0, pauses: true))
    }

    @Test("a step back pauses when it was made, and changes nothing if it is refused")
    func stepBack() {
        var machine = self.machine()
        self.play(&machine, 0, now: 0)
        #expect(self.ask(&machine, .stepTime(-100), now: 50) == .seek(0, pauses: true))
        #expect(!machine.isPaused && !machine.position(start: Self.start, now: 50).isPaused)
        machine.jumped(to: 0, pauses: true, now: 60)
        #expect(machine.next(recorded: 0, now: 60) == .play)
        machine.played(recorded: 0, now: 60)
        #expect(machine.isPaused && machine.next(recorded: 1, now: 9_999) == .hold)
    }

    @Test(
        "a seek is bounded by the recording",
        arguments: [
            (.time(1_000_400), 400), (.time(0), 0), (.time(.max), 1_000), (.time(.min), 0), (.offset(30), 30),
            (.offset(-1), 0), (.percent(50), 500), (.percent(100), 1_000),
        ] as [(ReplayPlace, Int64)]
    )
    func seeks(place: ReplayPlace, expected: Int64) {
        var machine = self.machine()
        #expect(self.ask(&machine, .seek(place), now: 0) == .seek(expected))
    }

    @Test("a seek shows the prices of its time, and continues at its speed or pauses")
    func landing() {
        for isPaused in [false, true] {
            var machine = self.machine { $0.isPaused = isPaused }
            #expect(self.ask(&machine, .seek(.offset(500)), now: 10) == .seek(500))
            machine.jumped(to: 500, now: 10)
            self.play(&machine, 480, now: 10)
            #expect(machine.position(start: Self.start, now: 10).at == Self.start + 500)
            #expect(machine.next(recorded: 530, now: 10) == (isPaused ? .hold : .wait(until: 40)))
        }
        var machine = self.machine()
        #expect(self.ask(&machine, .seek(.nextGap), now: 0) == .findGap)
        #expect(self.ask(&machine, .seek(.percent(.nan)), now: 0) != .findGap)
    }

    @Test("a long silence is shortened to the configured time")
    func skipsIdle() {
        var machine = self.machine(speed: 2) { $0.longestSilence = 100 }
        self.play(&machine, 0, now: 0)
        #expect(machine.next(recorded: 90, now: 0) == .wait(until: 45))
        self.play(&machine, 90, now: 45)
        #expect(machine.next(recorded: 900, now: 45) == .wait(until: 95))
        // The silence is shortened only once.
        #expect(machine.next(recorded: 900, now: 80) == .wait(until: 95))
        self.play(&machine, 900, now: 95)
    }

    @Test("refuses every request when it is over")
    func over() {
        var machine = self.machine()
        self.play(&machine, 1_000, now: 0)
        machine.ended(now: 5)
        #expect(machine.position(start: Self.start, now: 99).percent == 100)
        let refusal = ReplayRefusal("the replay is over; start it again, or with --loop")
        #expect(self.ask(&machine, .seek(.percent(0)), now: 6) == .refuse(refusal))
    }
}
