// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests Lists, VectorIndex and the algorithms of common/graph, on small graphs.
#include "common/graph/graphs.h"
#include "common/graph/tables.h"

#include <gtest/gtest.h>

using namespace btflink;

namespace
{

using Edges = std::vector<std::pair<uint32_t, uint32_t>>; // from, to
using Numbers = std::vector<uint32_t>;

Lists<> successors(size_t count, const Edges &edges)
{
    return Lists<>::make(count, [&](auto put) {
        for (auto [from, to] : edges)
            put(from, to);
    });
}

Numbers list(const Lists<> &lists, uint32_t i)
{
    return {lists[i].begin(), lists[i].end()};
}

TEST(Lists, KeepOrder)
{
    Lists<> lists = successors(4, {{2, 7}, {0, 5}, {2, 6}, {0, 5}});
    EXPECT_EQ(list(lists, 0), (Numbers{5, 5}));
    EXPECT_EQ(list(lists, 1), Numbers{});
    EXPECT_EQ(list(lists, 2), (Numbers{7, 6}));
    EXPECT_EQ(list(lists, 3), Numbers{});
    EXPECT_EQ(lists.begin(2), 2u);
}

TEST(Peel, LeavesCyclesAndWhatReachesThem)
{
    // 0 -> 1 -> 2 -> 1, 2 -> 3 -> 4, and 5 alone.
    const Edges edges = {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 4}};
    auto left = peel(6, [&](auto put) {
        for (auto [from, to] : edges)
            put(to, from);
    });
    EXPECT_EQ(left, (Numbers{1, 1, 1, 0, 0, 0}));
}

TEST(StrongComponents, AreNumberedBehindWhatTheyReach)
{
    // 0 -> 1 -> 2 -> 1 and 2 -> 3 -> 4 -> 3; 5 refers to itself and to 0.
    const Lists<> refs =
        successors(6, {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 4}, {4, 3}, {5, 5}, {5, 0}});
    const Numbers component = strong_components(6, [&](uint32_t v, auto visit) {
        for (uint32_t to : refs[v])
            visit(to);
    });
    EXPECT_EQ(component, (Numbers{2, 1, 1, 0, 0, 3}));
}

TEST(StrongComponents, CrossEdgesJoinNothing)
{
    // A diamond, 0 -> 1 -> 3 and 0 -> 2 -> 3, with an edge back from 2 to 0, and 3 -> 4.
    const Lists<> refs = successors(5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 0}, {3, 4}});
    const Numbers component = strong_components(5, [&](uint32_t v, auto visit) {
        for (uint32_t to : refs[v])
            visit(to);
    });
    EXPECT_EQ(component[0], component[2]);
    EXPECT_EQ((Numbers{component[4], component[3]}), (Numbers{0, 1}));
    EXPECT_NE(component[1], component[0]);
}

TEST(PostOrder, SuccessorsFirstAndEachOnce)
{
    const Lists<> refs = successors(5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 0}});
    std::vector<uint8_t> state(5);
    Numbers closed, stack;
    for (uint32_t root : {0u, 3u, 4u})
        post_order(
            root, [&](uint32_t v) -> uint8_t & { return state[v]; }, stack,
            [&](uint32_t v, auto need) {
                for (uint32_t to : refs[v])
                    need(to);
            },
            [&](uint32_t v) { closed.push_back(v); });
    EXPECT_EQ(closed, (Numbers{3, 2, 1, 0, 4}));
    EXPECT_TRUE(stack.empty());
}

template <typename Index>
Numbers refined(size_t count, const Edges &edges, Numbers block, size_t *blocks = nullptr)
{
    const Lists<> refs = successors(count, edges);
    Numbers vertices;
    for (uint32_t v = 0; v < count; ++v)
        vertices.push_back(v);
    size_t found = refine<Index>(vertices, block, 0, [&](uint32_t v, Numbers &key) {
        for (uint32_t to : refs[v])
            key.push_back(block[to]);
    });
    if (blocks)
        *blocks = found;
    return block;
}

TEST(Refine, CyclesOfEqualVerticesAreOneBlock)
{
    // A cycle of two vertices and a cycle of three. All vertices look the same at any depth.
    size_t blocks = 0;
    const Edges edges = {{0, 1}, {1, 0}, {2, 3}, {3, 4}, {4, 2}};
    EXPECT_EQ(refined<VectorIndex<>>(5, edges, Numbers(5, 9), &blocks), Numbers(5, 0));
    EXPECT_EQ(blocks, 1u);
}

TEST(Refine, DifferencesTravelBackwards)
{
    // Two chains that end differently.
    const Edges edges = {{0, 1}, {1, 2}, {3, 4}, {4, 5}};
    const Numbers block = {7, 7, 1, 7, 7, 2};
    size_t blocks = 0;
    EXPECT_EQ(refined<VectorIndex<>>(6, edges, block, &blocks), (Numbers{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(blocks, 6u);
    EXPECT_EQ(refined<VectorIndex<0>>(6, edges, block), (Numbers{0, 1, 2, 3, 4, 5}))
        << "where all hashes collide";
}

TEST(Refine, EndsEarly)
{
    Numbers block = {3, 3}, vertices = {0, 1};
    EXPECT_EQ(refine<VectorIndex<>>(
                  vertices, block, 1, [](uint32_t, Numbers &) { FAIL(); }, [] { return false; }),
              1u);
    EXPECT_EQ(block, (Numbers{3, 3}));
}

TEST(VectorIndex, NumbersInOrder)
{
    VectorIndex<> index;
    for (uint32_t i = 0; i < 1000; ++i)
        EXPECT_EQ(index.add(Numbers{i, i / 2}), std::pair(i, true));
    EXPECT_EQ(index.add({}), std::pair(1000u, true));
    EXPECT_EQ(index.add(Numbers{4, 2}), std::pair(4u, false));
    EXPECT_EQ(index.find(Numbers{999, 499}), 999u);
    EXPECT_EQ(index.find({}), 1000u);
    EXPECT_EQ(index.find(Numbers{4, 3}), VectorIndex<>::none);
    EXPECT_EQ(index.at(5)[1], 2u);
    EXPECT_EQ(index.size(), 1001u);
}

} // namespace
