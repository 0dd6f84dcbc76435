/// Events in the order of their times, and of their additions at one time.
struct LeaseEventQueue<Event> {
    private var heap: [(at: Int64, order: UInt64, event: Event)] = []
    private var order: UInt64 = 0

    mutating func add(_ event: Event, at: Int64) {
        self.order += 1
        self.heap.append((at, self.order, event))
        var child = self.heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.precedes(child, parent) else { break }
            self.heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (at: Int64, event: Event)? {
        guard !self.heap.isEmpty else { return nil }
        self.heap.swapAt(0, self.heap.count - 1)
        let first = self.heap.removeLast()
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < self.heap.count else { break }
            if child + 1 < self.heap.count, self.precedes(child + 1, child) { child += 1 }
            guard self.precedes(child, parent) else { break }
            self.heap.swapAt(child, parent)
            parent = child
        }
        return (first.at, first.event)
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (self.heap[left].at, self.heap[left].order) < (self.heap[right].at, self.heap[right].order)
    }
}
