import Market
@testable import Terminal
import Testing
import TickertapeTesting

@Suite("The rhythm of drawing")
struct FramePacerTests {
    @Test("At any rate of updates, frames are a tenth of a second apart, and the first comes at once")
    func cap() {
        var pacer = FramePacer(framesPerSecond: 10)
        var frames: [Int64] = []
        // An update every millisecond for three seconds of virtual time.
        for millisecond in Int64(0)..<3_000 {
            let now = millisecond * 1_000_000
            pacer.contentChanged()
            if pacer.next(now: now) == .draw {
                frames.append(now)
                pacer.drew(now: now, contentChangesAt: nil)
            }
        }
        #expect(frames.count == 30)
        #expect(frames.first == 0)
        for (one, next) in zip(frames, frames.dropFirst()) { #expect(next - one == 100_000_000) }
    }

    @Test("It sleeps without limit when neither updates nor the clock can change the screen")
    func sleeps() {
        var pacer = FramePacer()
        #expect(pacer.next(now: 5) == .draw)
        pacer.drew(now: 5, contentChangesAt: nil)
        #expect(pacer.next(now: 6) == .sleep(until: nil))
    }

    @Test("It wakes when the age on the screen changes, and not earlier than the cap allows")
    func clockwork() {
        var pacer = FramePacer()
        pacer.drew(now: 0, contentChangesAt: 500_000_000)
        #expect(pacer.next(now: 1) == .sleep(until: 500_000_000))
        #expect(pacer.next(now: 500_000_000) == .draw)
        pacer.drew(now: 500_000_000, contentChangesAt: 500_000_001)
        #expect(pacer.next(now: 500_000_001) == .sleep(until: 600_000_000))
        pacer.contentChanged()
        #expect(pacer.next(now: 599_999_999) == .sleep(until: 600_000_000))
        #expect(pacer.next(now: 600_000_000) == .draw)
    }

    @Test("Large frames come less often, all the same length apart, and small ones as often as ever")
    func largeFrames() {
        #expect(Self.frames(of: { _ in 300 }, rate: 3_500).map(\.bytes).reduce(0, +) == 100 * 300)
        let large = Self.frames(of: { _ in 700 }, rate: 3_500).map(\.at).filter { $0 > 2 * oneSecond }
        for (one, next) in zip(large, large.dropFirst()) { #expect(next - one == 200_000_000) }
        // Frames as large as a whole screen of 200x60 are drawn once a second.
        let huge = Self.frames(of: { _ in 30_000 }, rate: 3_500).map(\.at)
        for (one, next) in zip(huge, huge.dropFirst()) { #expect(next - one == oneSecond) }
    }

    @Test(
        "After the first burst, each second's bytes are at most the budget and one frame",
        arguments: [1_000, 3_500, 20_000]
    )
    func budget(rate: Int) {
        var numbers = SeededGenerator(seed: UInt64(rate))
        for _ in 0..<20 {
            // The smallest use up what was saved within a second.
            let most = rate / 5 + .random(in: 0...(4 * rate), using: &numbers)
            let frames = Self.frames(of: { _ in .random(in: (rate / 5)...most, using: &numbers) }, rate: rate)
            for (index, first) in frames.enumerated() where first.at >= 1_100_000_000 {
                var sum = 0
                var largest = 0
                for frame in frames[index...] where frame.at < first.at + oneSecond {
                    sum += frame.bytes
                    largest = max(largest, frame.bytes)
                }
                // An update comes every ten milliseconds, which earns this much.
                let earned = rate + rate / 100
                #expect(sum <= earned + largest)
            }
        }
    }

    @Test(
        "What is saved while the screen rests is a second's worth, and earned again",
        arguments: [1_000, 3_500, 20_000]
    )
    func savings(rate: Int) {
        var numbers = SeededGenerator(seed: UInt64(rate))
        for _ in 0..<20 {
            let most = Int.random(in: 1...rate, using: &numbers)
            let rest = Int64.random(in: 0...3, using: &numbers)
            let frames = Self.frames(
                of: { second in second % 4 < rest ? 0 : .random(in: 1...most, using: &numbers) },
                rate: rate
            )
            for (index, first) in frames.enumerated() {
                for seconds in Int64(1)...8 {
                    let end = first.at + seconds * oneSecond
                    var sum = 0
                    for frame in frames[index...] where frame.at < end { sum += frame.bytes }
                    let earned = rate * Int(seconds + 1)
                    #expect(sum <= earned + most)
                }
            }
        }
    }

    @Test("A key, a resize and a change of state wait for the cap only, and are paid for all the same")
    func urgent() {
        var pacer = FramePacer(bytesPerSecond: 1_000)
        _ = pacer.next(now: 0)
        pacer.drew(now: 0, bytes: 3_000, contentChangesAt: nil)
        pacer.contentChanged()
        #expect(pacer.next(now: 1) == .sleep(until: oneSecond))
        pacer.contentChanged(isUrgent: true)
        #expect(pacer.next(now: 1) == .sleep(until: 100_000_000))
        #expect(pacer.next(now: 100_000_000) == .draw)
        pacer.drew(now: 100_000_000, bytes: 500, contentChangesAt: nil)
        pacer.contentChanged()
        #expect(pacer.next(now: 200_000_000) == .sleep(until: 1_100_000_000))
    }

    @Test(
        "When the clock makes a state untrue, a frame comes though none has been earned, and no sooner than the cap allows"
    )
    func stateByClock() {
        var pacer = FramePacer(bytesPerSecond: 1_000)
        pacer.drew(now: 0, bytes: 3_000, contentChangesAt: 200_000_000, stateChangesAt: 400_000_000)
        #expect(pacer.next(now: 1) == .sleep(until: 400_000_000))
        #expect(pacer.allowed(now: 1) == 400_000_000)
        pacer.contentChanged()
        #expect(pacer.next(now: 1) == .sleep(until: 400_000_000))
        pacer.drew(now: 400_000_000, bytes: 3_000, contentChangesAt: nil, stateChangesAt: 400_000_001)
        #expect(pacer.next(now: 400_000_002) == .sleep(until: 500_000_000))
        pacer.drew(now: 500_000_000, bytes: 3_000, contentChangesAt: 600_000_000, stateChangesAt: nil)
        #expect(pacer.next(now: 500_000_001) == .sleep(until: 1_500_000_000))
    }

    /// Returns the frames from ten seconds of updates every ten milliseconds.
    private static func frames(of bytes: (Int64) -> Int, rate: Int) -> [(at: Int64, bytes: Int)] {
        var pacer = FramePacer(bytesPerSecond: rate)
        var frames: [(at: Int64, bytes: Int)] = []
        for hundredth in Int64(0)..<1_000 {
            let now = hundredth * 10_000_000
            pacer.contentChanged()
            guard pacer.next(now: now) == .draw else { continue }
            let count = bytes(hundredth / 100)
            frames.append((now, count))
            pacer.drew(now: now, bytes: count, contentChangesAt: nil)
        }
        return frames
    }
}
