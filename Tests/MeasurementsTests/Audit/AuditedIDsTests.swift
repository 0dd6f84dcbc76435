import Testing
@testable import Measurements

@Suite struct AuditedIDsTests {
    @Test("ids that follow each other are one range, and one that came after all splits it")
    func ranges() {
        var ids = AuditedIDs()
        for id in [5, 6, 7, 8, 20] as [UInt64] { ids.insert(id) }
        #expect(ids.ranges == [5...8, 20...20])
        ids.remove(6)
        ids.remove(20)
        #expect(ids.ranges == [5...5, 7...8])
        #expect(ids.unlisted == 0)
    }

    @Test("of many ranges the newest are listed and the others counted")
    func limit() {
        var ids = AuditedIDs()
        for id in UInt64(1)...150 { ids.insert(id * 2) }
        #expect(ids.ranges.count == 100)
        #expect(ids.ranges.first == 102...102)
        #expect(ids.unlisted == 50)
        ids.remove(4)
        #expect(ids.unlisted == 49)
    }

    @Test("the largest id is a range of its own")
    func largest() {
        var ids = AuditedIDs()
        ids.insert(.max)
        ids.insert(.max)
        #expect(ids.ranges == [.max ... .max, .max ... .max])
    }
}
