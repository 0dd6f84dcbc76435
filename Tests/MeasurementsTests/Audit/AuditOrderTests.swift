import Market
import Testing
@testable import Measurements

@Suite struct AuditOrderTests {
    @Test("the displaced trades are the fewest that would have to be moved")
    func fewest() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            let count = Int.random(in: 1...60, using: &random)
            let ids = (0..<count).map { UInt64($0 + 1) }.shuffled(using: &random)
            var order = AuditOrder()
            for id in ids { order.take(id) }
            // The longest increasing subsequence that ends at each place.
            var lengths: [Int] = []
            for (place, id) in ids.enumerated() {
                lengths.append(1 + (0..<place).filter { ids[$0] < id }.map { lengths[$0] }.reduce(0, max))
            }
            #expect(order.displaced == count - (lengths.max() ?? 0), "\(ids)")
        }
    }

    @Test("a trade that comes after ten thousand later ones is displaced, and the memory is bounded")
    func farBehind() {
        var order = AuditOrder()
        for id in UInt64(2)...20_000 { order.take(id) }
        order.take(1)
        order.take(20_001)
        #expect(order.displaced == 1)
        #expect(order.newest == 20_001)
    }
}
